import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'

const READY_MS_MAX = 60_000
/** Small and quick to start rather than fast. */
const JVM = ['-Xms96m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

export type KafkaProcess = {
  readonly brokers: string[]
  /** With -9; waits until it is gone. */
  readonly kill: () => Promise<void>
  /** On the same data and port; waits until it answers. */
  readonly restart: () => Promise<void>
  /** For good, data and all. */
  readonly stop: () => Promise<void>
}

/**
 * One KRaft node that is broker and controller, with its data in a temporary folder. A port that
 * was free may be another's by the time Kafka takes it: then again, on others.
 */
export async function startKafkaProcess(libs: string, tries = 3): Promise<KafkaProcess> {
  try {
    return await startOnFreePorts(libs)
  } catch (error) {
    if (tries <= 1) throw error
    return await startKafkaProcess(libs, tries - 1)
  }
}

async function startOnFreePorts(libs: string): Promise<KafkaProcess> {
  const home = mkdtempSync(join(tmpdir(), 'tallygate-kafka-'))
  const [port, controllerPort] = [await freePort(), await freePort()]
  const brokers = [`127.0.0.1:${port}`]
  const settings = join(home, 'server.properties')
  writeFileSync(settings, properties(port, controllerPort, join(home, 'data')))
  const classpath = ['-cp', join(libs, '*')]
  const clusterId = randomBytes(16).toString('base64url')
  const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings]
  await ended(start(home, [...classpath, ...format]))
  let child: ChildProcess | null = null
  const kill = async (): Promise<void> => {
    const dying = child
    child = null
    if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return
    const exit = once(dying, 'exit')
    dying.kill('SIGKILL')
    await exit
  }
  const restart = async (): Promise<void> => {
    await kill()
    child = start(home, [...JVM, ...classpath, 'kafka.Kafka', settings])
    await untilReady(brokers, child, join(home, 'output.log'))
  }
  // A test process that ends by itself takes the broker along.
  const onExit = (): void => void child?.kill('SIGKILL')
  process.on('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    await kill()
    rmSync(home, { recursive: true, force: true })
  }
  try {
    await restart()
  } catch (error) {
    await stop()
    throw error
  }
  return { brokers, kill, restart, stop }
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
    // A broker that was killed may come back before its own session as a broker has run out.
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

async function ended(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`Kafka's storage could not be made: exit ${code}`)
}

/** Until the broker answers who it is. */
async function untilReady(brokers: string[], child: ChildProcess, output: string): Promise<void> {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } })
  const giveUpAt = performance.now() + READY_MS_MAX
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > giveUpAt) {
      throw new Error(`Kafka did not start:\n${readFileSync(output, 'utf8').slice(-2_000)}`)
    }
    const admin = kafka.admin()
    try {
      await admin.connect()
      if ((await admin.describeCluster()).brokers.length > 0) return
    } catch {
      await delay(100)
    } finally {
      await admin.disconnect()
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
