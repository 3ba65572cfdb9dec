// CRoaring (Debian's libroaring-dev, 0.2.66): compressed sets of 32-bit numbers. It comes without a pkg-config file.
#pragma once
#include <roaring/roaring.h>
