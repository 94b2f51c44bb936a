# Every target calls one script, so that a script can also be run by hand.
.PHONY: demo test verify soak bench fuzz format lint install clean

demo:
	@scripts/demo.sh

test:
	@scripts/test.sh

verify:
	@scripts/verify.sh

soak:
	@scripts/soak.sh $(MINUTES)

bench:
	@scripts/bench.sh

fuzz:
	@scripts/fuzz.sh

format:
	@scripts/format.sh

lint:
	@scripts/lint.sh

install:
	@scripts/install.sh $(PREFIX)

clean:
	@scripts/clean.sh
