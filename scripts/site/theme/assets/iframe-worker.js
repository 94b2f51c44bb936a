// Search for pages that are opened from the disk. Browsers refuse a Worker there, so a hidden frame stands in: it runs
// the worker's script, and messages go back and forth as they would with a Worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc =
        "<script>var postMessage = data => frameElement.answer(data)</script>" +
        `<script src="${url}"></script>`;
      frame.answer = data => this.dispatchEvent(new MessageEvent("message", { data }));
      this.frame = new Promise(done => frame.addEventListener("load", () => done(frame.contentWindow)));
      document.body.append(frame);
    }

    postMessage(data) {
      this.frame.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}
