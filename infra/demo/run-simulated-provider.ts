import { startSimulatedProvider } from './simulated-provider.ts'

/**
 * Runs the simulated provider as a separate process, so that a test can kill all other processes
 * and keep the provider. The optional arguments are: port, pause between chunks (ms), tokens of an
 * answer, pause before the first byte (ms), and duration of a task (ms). The journal of requests is
 * served at `/journal`.
 */
const numbers = process.argv.slice(2).map(Number)
const [port = 0, gapMs = 0, answerTokens = 20, firstByteMs = 0, taskMs = 8_000] = numbers
const options = { port, gapMs, answerTokens, firstByteMs, taskMs }
const provider = await startSimulatedProvider(options)
process.stdout.write(`${provider.url}\n`)
