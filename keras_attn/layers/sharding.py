"""Layout of weights over several devices, for `keras.distribution`."""

import keras

# Projections whose columns are split over the devices, and those whose rows are: each product with
# a split output is followed by one with a split input (Shoeybi et al. 2019, section 3).
COLUMNS = "query|key|value|gate|inner"
ROWS = "output|outer"
# Path of the logits, whose columns are the vocabulary.
LOGITS = "(.*/)?logits"


def layout_map(
    device_mesh: keras.distribution.DeviceMesh, axis: str = "model"
) -> keras.distribution.LayoutMap:
    """Return the layout of tensor parallelism for every layer of this package.

    Heads and inner features are split over the devices of one axis of the mesh (Shoeybi et al.
    2019, section 3). The number of heads, the number of inner features, the width of the embeddings
    and the number of logits must be multiples of the number of these devices. Keras distributes on
    JAX only.

    Args:
        device_mesh: The devices.
        axis: Name of the axis of `device_mesh` to split over. Defaults to `"model"`.

    Returns:
        A map for `keras.distribution.ModelParallel(layout_map=...)`.

    Raises:
        ValueError: If `device_mesh` has no axis of that name.

    Example:

    >>> devices = keras.distribution.list_devices()[:1]
    >>> mesh = keras.distribution.DeviceMesh((1, 1), ("batch", "model"), devices)
    >>> layout_map(mesh)["encoder/block_0/self_attention/query/kernel"].axes
    (None, 'model')
    """
    if axis not in device_mesh.axis_names:
        raise ValueError(
            f"`axis` must be one of the mesh's {list(device_mesh.axis_names)}. "
            f"Received: axis={axis!r}."
        )
    layouts = keras.distribution.LayoutMap(device_mesh)
    layouts[f"(.*/)?({COLUMNS})/kernel"] = (None, axis)
    layouts[f"(.*/)?({COLUMNS})/bias"] = (axis,)
    layouts[f"(.*/)?({ROWS})/kernel"] = (axis, None)
    layouts["(.*/)?tokens/embeddings"] = (None, axis)
    layouts[f"{LOGITS}/kernel"], layouts[f"{LOGITS}/bias"] = (None, axis), (axis,)
    return layouts
