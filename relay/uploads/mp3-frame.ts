/** One frame of an MP3 file. */
export type Mp3Frame = {
  readonly bytes: number
  readonly bitsPerSecond: number
  readonly seconds: number
}

const KBPS_V1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const KBPS_V1_LAYER_2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
const KBPS_V2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const RATES = [44_100, 48_000, 32_000]
const LAYER_3 = 1
const LAYER_2 = 2

/**
 * Reads the header of an MPEG audio frame of layer 2 or 3 (ISO/IEC 11172-3, section 2.4.1.3). `at`
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
  if (version === 1 || rate === undefined || (layer !== LAYER_3 && layer !== LAYER_2)) return null
  const isV1 = version === 3
  const ofV1 = layer === LAYER_3 ? KBPS_V1 : KBPS_V1_LAYER_2
  const kbps = (isV1 ? ofV1 : KBPS_V2)[third >> 4] ?? 0
  if (kbps === 0) return null
  const sampleRate = rate / (isV1 ? 1 : version === 2 ? 2 : 4)
  const samples = layer === LAYER_3 && !isV1 ? 576 : 1152
  const padding = (third >> 1) & 1
  return {
    bytes: Math.floor((samples / 8) * ((kbps * 1_000) / sampleRate)) + padding,
    bitsPerSecond: kbps * 1_000,
    seconds: samples / sampleRate,
  }
}
