/** The durations of a frame in Opus' mode SILK, in milliseconds (RFC 6716, section 3.1). */
const SILK_MS = [10, 20, 40, 60]
/** The durations of a frame in Opus' hybrid mode, in milliseconds. */
const HYBRID_MS = [10, 20]
/** The durations of a frame in Opus' mode CELT, in milliseconds. */
const CELT_MS = [2.5, 5, 10, 20]
/** The longest packet that a decoder accepts, in milliseconds. */
const PACKET_MS_MAX = 120

/**
 * Returns the duration in seconds of an Opus packet. A decoder derives the duration from the first
 * two bytes of the packet, and not from the container.
 */
export function opusPacketSeconds(first: number, second: number): number {
  const config = first >> 3
  const frameMs =
    config < 12 ? SILK_MS[config & 3] : config < 16 ? HYBRID_MS[config & 1] : CELT_MS[config & 3]
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2
  return Math.min((frameMs ?? 0) * frames, PACKET_MS_MAX) / 1_000
}
