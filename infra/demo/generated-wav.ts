const RATE = 8_000
/** The notes of the tune, in semitones above the lowest note. */
const TUNE = [0, 4, 7, 12, 9, 7, 4, 0]
const NOTE_SECONDS = 0.5
const LOWEST_HERTZ = 196

export const TUNE_SECONDS = TUNE.length * NOTE_SECONDS

/** Returns a short WAV tune: mono, 8 bits per sample. */
export function createWav(seed: number): Buffer {
  const samples = Buffer.alloc(RATE * TUNE_SECONDS)
  const perNote = RATE * NOTE_SECONDS
  for (let at = 0; at < samples.length; at += 1) {
    const semitones = (TUNE[Math.floor(at / perNote)] ?? 0) + (seed % 12)
    const part = (at % perNote) / perNote
    const wave = Math.sin((2 * Math.PI * at * LOWEST_HERTZ * 2 ** (semitones / 12)) / RATE)
    samples[at] = 128 + Math.round(80 * wave * Math.sin(Math.PI * part))
  }
  return Buffer.concat([header(samples.length), samples])
}

function header(length: number): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(RATE, 24)
  head.writeUInt32LE(RATE, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(length, 40)
  return head
}
