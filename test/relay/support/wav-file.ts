/** A WAV file of 16-bit samples whose header states `declared` bytes of data. */
export function wav(seconds: number, sampleRate = 8_000, declared?: number): Buffer {
  const data = Buffer.alloc(seconds * sampleRate * 2)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(declared ?? data.length, 40)
  return Buffer.concat([head, data])
}
