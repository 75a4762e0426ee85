"""Position tables out of files: what each format holds, checked before it is believed."""
