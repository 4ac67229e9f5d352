"""`make live-demo`: a GitHub, a Prefect server and a worker of its own, from a crawl to two snapshots."""
