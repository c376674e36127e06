import { startSimulatedProvider } from './simulated-provider.ts'

/**
 * The simulated provider as a program of its own, for tests that kill everything else. Prints its
 * address; its journal is at `/journal`. In order, all optional, its arguments are: port, pause
 * between chunks (ms), tokens of an answer, pause before the first byte (ms), and how long a
 * drawing or music task takes (ms).
 */
const numbers = process.argv.slice(2).map(Number)
const [port = 0, gapMs = 0, answerTokens = 20, firstByteMs = 0, taskMs = 8_000] = numbers
const options = { port, gapMs, answerTokens, firstByteMs, taskMs }
const provider = await startSimulatedProvider(options)
process.stdout.write(`${provider.url}\n`)
