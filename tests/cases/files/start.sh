#!/bin/sh
# Not a template: {{ name }} and ${HOME} arrive as they are.
exec python train.py "$@"
