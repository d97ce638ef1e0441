module keelson.dev/testbed/crds

go 1.24.0
