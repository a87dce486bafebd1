"""Names for the arrays that the modules here pass around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Codes or octets.
Codes = npt.NDArray[np.uint8]
#: True for some of ``n`` rows.
RowMask = npt.NDArray[np.bool_]
#: Numbers of 53 bits.
Doubles = npt.NDArray[np.float64]
