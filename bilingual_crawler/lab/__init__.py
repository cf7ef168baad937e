"""What makes and measures the models: training, evaluation, replay."""
