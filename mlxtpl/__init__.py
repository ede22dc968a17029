"""mlxtpl: layered Jinja templates and validated values for Kubernetes training jobs."""

__version__ = "0.1.0"
