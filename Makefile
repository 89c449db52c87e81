# `sam build` calls this: an app as what Lambda takes.
build-Millrace:
	millrace build . --target lambda --out "$(ARTIFACTS_DIR)"
