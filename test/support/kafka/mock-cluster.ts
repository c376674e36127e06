import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaProcess } from './kafka-process.ts'
import { answers } from './maven-kafka.ts'

const READY_MS_MAX = 10_000

/** Starts librdkafka's mock cluster through `kcat`. Returns null without `kcat`. */
export async function startMockCluster(): Promise<KafkaProcess | null> {
  if (!(await answers('kcat', '-V'))) return null
  // kcat runs until its standard input is closed. Debug output contains the cluster's addresses.
  const options = ['-X', 'test.mock.num.brokers=3', '-d', 'mock']
  const child = spawn('kcat', ['-P', '-b', 'mock:1', '-t', 'any', ...options], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (output.length < 100_000) output += chunk.toString()
  })
  const onExit = (): void => void child.kill('SIGKILL')
  process.on('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    child.kill('SIGKILL')
  }
  const giveUpAt = performance.now() + READY_MS_MAX
  for (;;) {
    const found = /bootstrap\.servers=([\d.:,]+)/.exec(output)?.[1]?.split(',')
    if (found !== undefined) {
      const refuse = async (): Promise<void> => {
        throw new Error('a mock cluster is gone once it is killed')
      }
      return { brokers: found, kill: refuse, restart: refuse, stop }
    }
    if (performance.now() > giveUpAt) break
    await delay(20)
  }
  await stop()
  return null
}
