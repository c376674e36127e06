/** One frame of an MP3 file. */
export type Mp3Frame = {
  readonly bytes: number
  readonly bitsPerSecond: number
  readonly seconds: number
}

const KBPS_V1_LAYER_1 = [...[0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]]
const KBPS_V1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const KBPS_V1_LAYER_2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
const KBPS_V2_LAYER_1 = [...[0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]]
const KBPS_V2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const RATES = [44_100, 48_000, 32_000]
const LAYER_3 = 1
const LAYER_2 = 2
const LAYER_1 = 3
/**
 * The number of samples in a layer 1 frame. The length of such a frame is a multiple of 4 bytes.
 */
const LAYER_1_SAMPLES = 384

/**
 * Reads the header of an MPEG audio frame (ISO/IEC 11172-3, section 2.4.1.3). `at`
 * is the offset of the header. Returns null if no frame begins there or if the length of the frame
 * is unknown.
 */
export function mp3FrameAt(bytes: Buffer, at: number): Mp3Frame | null {
  if (at + 4 > bytes.length || bytes[at] !== 0xff) return null
  const [second = 0, third = 0] = [bytes[at + 1], bytes[at + 2]]
  if ((second & 0xe0) !== 0xe0) return null
  const version = (second >> 3) & 3
  const layer = (second >> 1) & 3
  const rate = RATES[(third >> 2) & 3]
  if (version === 1 || rate === undefined || layer === 0) return null
  const isV1 = version === 3
  const bitsPerSecond = (bitRatesOf(isV1, layer)[third >> 4] ?? 0) * 1_000
  if (bitsPerSecond === 0) return null
  const sampleRate = rate / (isV1 ? 1 : version === 2 ? 2 : 4)
  const padding = (third >> 1) & 1
  if (layer === LAYER_1) {
    const slots = Math.floor((12 * bitsPerSecond) / sampleRate) + padding
    return { bytes: slots * 4, bitsPerSecond, seconds: LAYER_1_SAMPLES / sampleRate }
  }
  const samples = layer === LAYER_3 && !isV1 ? 576 : 1152
  return {
    bytes: Math.floor((samples / 8) * (bitsPerSecond / sampleRate)) + padding,
    bitsPerSecond,
    seconds: samples / sampleRate,
  }
}

function bitRatesOf(isV1: boolean, layer: number): readonly number[] {
  if (layer === LAYER_1) return isV1 ? KBPS_V1_LAYER_1 : KBPS_V2_LAYER_1
  if (!isV1) return KBPS_V2
  return layer === LAYER_2 ? KBPS_V1_LAYER_2 : KBPS_V1
}
