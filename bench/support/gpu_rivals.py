"""Runs other programs' exact k-NN on data in a GPU's memory. Reads one JSON case per line, prints one result per line.

  python3 -m bench.support.gpu_rivals torch|faiss < CASES

Cases have rows, queries, columns, k, data, metric, nominal and repeats, as bench/knn_gpu.py makes them. A result holds
the median of the repetitions in milliseconds, and the share of the first queries whose set of neighbours is that of
float64.
"""
import json
import statistics
import sys

CHECKED = 32


def make(torch, case):
    """Makes training and query rows on the GPU, of the kinds that support/made_table.cpp makes. For Gower they are as
    FAISS wants them: numbers in [0, 1), nominal codes below zero."""
    torch.manual_seed(1)
    d, data = case["columns"], case["data"]
    hidden = {"latent": 16, "clusters": 1000}.get(data, 0)
    basis = torch.randn(hidden, d, device="cuda") if hidden else None

    def draw(n):
        if data == "normal":
            return torch.randn(n, d, device="cuda")
        if data == "bytes":
            return torch.randint(0, 256, (n, d), device="cuda", dtype=torch.float32)
        if data == "latent":
            return torch.randn(n, hidden, device="cuda") @ basis + 0.01 * torch.randn(n, d, device="cuda")
        if data == "clusters":
            return basis[torch.randint(0, hidden, (n,), device="cuda")] + 0.1 * torch.randn(n, d, device="cuda")
        table = torch.rand(n, d, device="cuda")
        if case["nominal"]:
            codes = torch.randint(0, 8, (n, case["nominal"]), device="cuda", dtype=torch.float32)
            table[:, d - case["nominal"]:] = -1.0 - codes
        return table

    return draw(case["rows"]), draw(case["queries"])


def exact_share(torch, case, train, query, found):
    """The share of queries with right neighbours, by distances in float64, some training rows at a time. Equal
    distances may be in any order."""
    n, k = len(train), case["k"]
    few = query[:CHECKED].double()
    rows = max(1, 2 ** 28 // train.shape[1])
    right = 0
    for q, ours in zip(few, found[:CHECKED]):
        distances = torch.cat([distances_to(torch, case, train[i:i + rows].double(), q) for i in range(0, n, rows)])
        kth = torch.topk(distances, k, largest=False).values[-1]
        right += int((distances[ours.to("cuda")] <= kth).all()) and len(set(ours.tolist())) == k
    return right / len(few)


def distances_to(torch, case, train, q):
    if case["metric"] == "manhattan":
        return (train - q).abs().sum(1)
    if case["metric"] == "gower":
        cut = train.shape[1] - case["nominal"]
        return (train[:, :cut] - q[:cut]).abs().sum(1) + (train[:, cut:] != q[cut:]).sum(1)
    return ((train - q) ** 2).sum(1)


def torch_search(torch, case, train, query):
    """The search that people write: a float32 product and topk, or cdist, some queries at a time. Returns the search,
    how many of the queries it takes, and the function that prepares it."""
    n, m, k = case["rows"], case["queries"], case["k"]
    piece = max(1, min(m, 2 ** 30 // n))
    if case["metric"] == "manhattan":
        few = query[:max(1, m // 20)]  # all queries would take seconds; the time is scaled
        return lambda: torch.cat([torch.topk(torch.cdist(few[i:i + piece], train, p=1.0), k, largest=False).indices
                                  for i in range(0, len(few), piece)]), len(few)
    if case["metric"] != "euclidean":
        return None, 0

    def search():
        squares = (train * train).sum(1)
        return torch.cat([torch.topk(squares - 2 * (query[i:i + piece] @ train.T), k, largest=False).indices
                          for i in range(0, m, piece)])

    return search, m


def faiss_search(torch, case, train, query):
    import faiss
    import faiss.contrib.torch_utils  # noqa: F401: makes knn_gpu take tensors of the GPU
    metric = {"euclidean": "METRIC_L2", "manhattan": "METRIC_L1", "gower": "METRIC_GOWER"}.get(case["metric"])
    if metric is None or not hasattr(faiss, metric):
        return None, 0
    resources = faiss_search.__dict__.setdefault("resources", faiss.StandardGpuResources())
    return lambda: faiss.knn_gpu(resources, query, train, case["k"], metric=getattr(faiss, metric))[1], len(query)


def measure(torch, program, case):
    train, query = make(torch, case)
    search, n_queries = {"torch": torch_search, "faiss": faiss_search}[program](torch, case, train, query)
    if search is None:
        return {"error": "does not do this"}
    times = []
    for _ in range(case["repeats"] + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        found = search()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    scale = case["queries"] / n_queries
    result = {"milliseconds": statistics.median(times[1:]) * scale, "times": times, "queries_run": n_queries,
              "exact": exact_share(torch, case, train, query, found)}
    return result


def main():
    import torch
    program = sys.argv[1]
    if program == "faiss":
        import faiss
        version = faiss.__version__
    else:
        version = torch.__version__
    for line in sys.stdin:
        try:
            result = measure(torch, program, json.loads(line)) | {"version": version}
        except Exception as error:  # noqa: BLE001: whatever it is, the next case goes on
            result = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        print(json.dumps(result), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
