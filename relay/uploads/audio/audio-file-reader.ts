import type { SpooledFile } from '../spooled-file.ts'

export type AudioFile = Pick<SpooledFile, 'bytes' | 'read'>

/**
 * The number of bytes per second that is assumed for audio of an unknown format. Usual audio has at
 * least this number.
 */
export const UNKNOWN_RATE_MIN = 2_000
/**
 * The maximum number of frames, pages or other headers that are read, which is about a day of
 * audio, and less than a second of work. The duration of the rest of a file is estimated from its
 * length. The limit exists because a file is measured before its caller has paid anything, and
 * because other calls wait during the measurement.
 */
export const FRAMES_MAX = 4_000_000

const WINDOW_BYTES = 256 * 1024

/**
 * Reads a file from its start to its end in pieces (windows), so that a long file needs little
 * memory. Each window is read asynchronously, so that other calls can run in between.
 */
export class Windows {
  at: number
  private readonly file: AudioFile
  private window: Buffer = Buffer.alloc(0)
  private start = 0

  constructor(file: AudioFile, at = 0) {
    this.file = file
    this.at = at
  }

  /**
   * Returns at least `length` bytes that begin at the offset `at`, or fewer at the end of the file.
   */
  peek(length: number): Buffer | Promise<Buffer> {
    const from = this.at - this.start
    if (from >= 0 && from + length <= this.window.length) return this.window.subarray(from)
    return this.load(length)
  }

  private async load(length: number): Promise<Buffer> {
    this.start = this.at
    this.window = await this.file.read(this.at, Math.max(length, WINDOW_BYTES))
    return this.window
  }
}
