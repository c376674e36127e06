import type { VideoVendorName } from '#relay/providers/openai-compatible/provider-profile.ts'
import { DOUBAO } from './doubao.ts'
import { HAILUO } from './hailuo.ts'
import { JIMENG } from './jimeng.ts'
import { KLING } from './kling.ts'
import { SORA } from './sora.ts'
import { VEO } from './veo.ts'
import { VEO_ON_VERTEX } from './veo-on-vertex.ts'
import type { VideoVendor } from './video-vendor.ts'
import { VIDU } from './vidu.ts'
import { WAN } from './wan.ts'

export const VIDEO_VENDORS: Readonly<Record<VideoVendorName, VideoVendor>> = {
  doubao: DOUBAO,
  hailuo: HAILUO,
  jimeng: JIMENG,
  kling: KLING,
  sora: SORA,
  veo: VEO,
  'veo-on-vertex': VEO_ON_VERTEX,
  vidu: VIDU,
  wan: WAN,
}
