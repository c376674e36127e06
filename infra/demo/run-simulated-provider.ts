import { startSimulatedProvider } from './simulated-provider.ts'

/**
 * Runs the simulated provider as a separate program, so that the provider survives tests that kill
 * all other processes. The program prints its address and serves its journal at `/journal`. The
 * optional arguments are, in order: port, pause between chunks (ms), tokens of an answer, pause
 * before the first byte (ms), and duration of a drawing or music task (ms).
 */
const numbers = process.argv.slice(2).map(Number)
const [port = 0, gapMs = 0, answerTokens = 20, firstByteMs = 0, taskMs = 8_000] = numbers
const options = { port, gapMs, answerTokens, firstByteMs, taskMs }
const provider = await startSimulatedProvider(options)
process.stdout.write(`${provider.url}\n`)
