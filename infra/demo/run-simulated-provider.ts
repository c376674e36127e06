import { startSimulatedProvider } from './simulated-provider.ts'

/**
 * Runs the simulated provider as a separate process, which keeps running in tests that kill all
 * other processes.
 *
 * Optional arguments: port, pause between chunks (ms), tokens of an answer, pause before the first
 * byte (ms), duration of a task (ms). The journal is served at `/journal`.
 */
const numbers = process.argv.slice(2).map(Number)
const [port = 0, gapMs = 0, answerTokens = 20, firstByteMs = 0, taskMs = 8_000] = numbers
const options = { port, gapMs, answerTokens, firstByteMs, taskMs }
const provider = await startSimulatedProvider(options)
process.stdout.write(`${provider.url}\n`)
