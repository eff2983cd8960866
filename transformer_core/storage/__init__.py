"""Files of a checkpoint: tensors, manifest, identity, measurements."""
