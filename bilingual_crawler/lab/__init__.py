"""Train and measure the models: training, evaluation, replay."""
