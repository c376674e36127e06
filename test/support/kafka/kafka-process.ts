import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { disconnect, patchRequestQueues } from '#infra/event-bus/kafka/kafka-client.ts'

const READY_MS_MAX = 100_000
const TRIES_MAX = 3
const LAST_LINES = 40
const ATTEMPT_MS_MAX = 5_000
/**
 * NOTE: Linux uses higher ports for outgoing connections. A client that connects to a starting
 * broker could get that broker's port and be connected with itself.
 */
const [LOWEST_PORT, HIGHEST_PORT] = [12_000, 32_000]
/** Options for low memory use and a fast start. */
const JVM = ['-Xms96m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

export type KafkaProcess = {
  readonly brokers: string[]
  readonly kill: () => Promise<void>
  /** Restarts the broker with the same data and port. Resolves when the broker is ready. */
  readonly restart: () => Promise<void>
  /** Stops the broker and deletes its data. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a Kafka node that is broker and controller. If another program takes its port, the start
 * is retried on other ports. A timeout on a busy machine is not retried, because retries would
 * increase the load.
 */
export const startKafkaProcess = (libs: string): Promise<KafkaProcess> =>
  unlessEndedEarly(() => startOnFreePorts(libs))

async function unlessEndedEarly<T>(begin: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof EndedEarlyError) || tries === TRIES_MAX) throw error
    }
  }
}

/** Thrown if Kafka ends before it is ready. The message contains its last output lines. */
class EndedEarlyError extends Error {}

async function startOnFreePorts(libs: string): Promise<KafkaProcess> {
  const home = mkdtempSync(join(tmpdir(), 'tallygate-kafka-'))
  const port = await freePort()
  const controllerPort = await freePort([port])
  const brokers = [`127.0.0.1:${port}`]
  const settings = join(home, 'server.properties')
  writeFileSync(settings, properties(port, controllerPort, join(home, 'data')))
  const classpath = ['-cp', join(libs, '*')]
  const clusterId = randomBytes(16).toString('base64url')
  const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings]
  let child: ChildProcess | null = null
  const kill = async (): Promise<void> => {
    const dying = child
    child = null
    if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return
    const exit = once(dying, 'exit')
    dying.kill('SIGKILL')
    await exit
  }
  const log = join(home, 'output.log')
  const begin = async (): Promise<void> => {
    await kill()
    child = start(home, [...JVM, ...classpath, 'kafka.Kafka', settings])
    await untilReady(brokers, child, log)
  }
  const onExit = (): void => void child?.kill('SIGKILL')
  process.on('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    await kill()
    rmSync(home, { recursive: true, force: true })
  }
  try {
    await ended(start(home, [...JVM, ...classpath, ...format]), log)
    await begin()
  } catch (error) {
    await stop()
    throw error
  }
  return { brokers, kill, restart: () => unlessEndedEarly(begin), stop }
}

const properties = (port: number, controllerPort: number, data: string): string =>
  Object.entries({
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'log.dirs': data,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 2,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 100,
    // The session is short, because a killed broker can restart only after its session has expired.
    'broker.session.timeout.ms': 3_000,
    'num.network.threads': 2,
    'num.io.threads': 2,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

function start(home: string, args: readonly string[]): ChildProcess {
  const output = openSync(join(home, 'output.log'), 'a')
  const child = spawn('java', args, { cwd: home, stdio: ['ignore', output, output] })
  closeSync(output)
  return child
}

async function ended(child: ChildProcess, log: string): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new EndedEarlyError(`no storage for Kafka:\n${lastLines(log)}`)
}

async function untilReady(brokers: string[], child: ChildProcess, log: string): Promise<void> {
  patchRequestQueues()
  const kafka = new Kafka({
    ...{ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } },
    requestTimeout: ATTEMPT_MS_MAX,
    connectionTimeout: ATTEMPT_MS_MAX,
  })
  const giveUpAt = performance.now() + READY_MS_MAX
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      const how = child.signalCode ?? `exit ${child.exitCode}`
      throw new EndedEarlyError(`Kafka ended before it answered (${how}):\n${lastLines(log)}`)
    }
    if (performance.now() > giveUpAt) {
      throw new Error(`Kafka does not answer after ${READY_MS_MAX} ms:\n${lastLines(log)}`)
    }
    const admin = kafka.admin()
    const isReady = await admin
      .connect()
      .then(() => admin.describeCluster())
      .then(
        (cluster) => cluster.brokers.length > 0,
        () => false,
      )
    await disconnect(admin)
    if (isReady) return
    await delay(100)
  }
}

const lastLines = (log: string): string =>
  readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n')

/** Returns a random free port, because two test files that start together need different ports. */
export async function freePort(others: readonly number[] = []): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT)
    if (!others.includes(port) && (await isFree(port))) return port
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
