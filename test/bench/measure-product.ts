import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { treeOf } from '#test/support/process-tree.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, setOption, setUpSite } from '#test/support/test-product.ts'
import { closedLoop, openLoop, type Target } from './apply-load.ts'
import { AS_STARTED, cpuSeconds, startPinned } from './pinned-processes.ts'
import type { Table } from './results-file.ts'

const IDLE_SECONDS = 20
const SLOW_STREAMS = 500
/** A slow stream has 60 events in 15 s. */
const SLOW = { gapMs: 250, tokens: 58 }
const LOAD_CORE = 1

type Options = { readonly saturatedSeconds: number; readonly chatBody: (slow: boolean) => string }

/** Measures the product as `npm start` runs it, with all roles in one process. */
export async function measureProduct({ saturatedSeconds, chatBody }: Options): Promise<Table> {
  const rows: string[][] = []
  const fast = await startPinned(LOAD_CORE, 'infra/demo/run-simulated-provider.ts', ['0', '0'])
  const slow = await startPinned(LOAD_CORE, 'infra/demo/run-simulated-provider.ts', [
    ...['0', String(SLOW.gapMs), String(SLOW.tokens)],
  ])
  const product = await ProductProcess.create({ LOG_LEVEL: 'error', ...AS_STARTED })
  try {
    await product.start()
    const key = await seed(product.url, fast.line.trim(), slow.line.trim())
    await product.stop()
    rows.push(['start to first call, s', (await firstCallAfterStart(product, key)).toFixed(2)])
    const target = targetOf(product, key)
    await delay(3_000)
    rows.push(['idle: CPU ms per second', (await idleCpu(product)).toFixed(1)])
    rows.push(['idle: RSS MB, Node', rssMb(product.pid)])
    await closedLoop(target, chatBody(false), { connections: 64, seconds: saturatedSeconds })
    rows.push([`RSS MB after ${saturatedSeconds} s of saturation, Node`, rssMb(product.pid)])
    rows.push(...(await slowStreams(product, target, chatBody(true))))
  } finally {
    await product.close()
    for (const { child } of [fast, slow]) child.removeAllListeners('exit').kill('SIGKILL')
  }
  return {
    title: 'The complete product in one process',
    head: ['figure', 'value'],
    rows,
  }
}

async function seed(url: string, fast: string, slow: string): Promise<string> {
  const root = await setUpSite(url)
  await setOption(root, 'ModelRatio', { 'sim-small': 0.001, 'sim-slow': 0.001 })
  await addChannel({ root, provider: { url: fast } }, { models: 'sim-small' })
  await addChannel({ root, provider: { url: slow } }, { models: 'sim-slow' })
  return (await root.createToken({ name: 'bench', unlimited_quota: true })).key
}

const targetOf = ({ url }: ProductProcess, key: string): Target => ({
  url: `${url}/v1/chat/completions`,
  headers: { authorization: `Bearer ${key}` },
})

/** Returns the seconds from the start of the process to the end of its first successful call. */
async function firstCallAfterStart(product: ProductProcess, key: string): Promise<number> {
  const begin = performance.now()
  const starting = product.start()
  const { url, headers } = targetOf(product, key)
  const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] })
  const call = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
  const isAnswered = () =>
    fetch(url, call).then(
      async (response) => (await response.text()) !== '' && response.status === 200,
      () => false,
    )
  while (!(await isAnswered())) await delay(10)
  const seconds = (performance.now() - begin) / 1_000
  await starting
  return seconds
}

async function idleCpu(product: ProductProcess): Promise<number> {
  const before = cpuSeconds(product.pid)
  await delay(IDLE_SECONDS * 1_000)
  return ((cpuSeconds(product.pid) - before) * 1_000) / IDLE_SECONDS
}

async function slowStreams(
  product: ProductProcess,
  target: Target,
  body: string,
): Promise<string[][]> {
  const events = SLOW_STREAMS * (SLOW.tokens + 2)
  const before = cpuSeconds(product.pid)
  let highestMb = 0
  const sampling = setInterval(() => {
    highestMb = Math.max(highestMb, Number(rssMb(product.pid)))
  }, 500)
  const { count, errors } = await openLoop(target, body, { rate: SLOW_STREAMS, seconds: 1 })
  clearInterval(sampling)
  const cpuUs = ((cpuSeconds(product.pid) - before) * 1e6) / events
  const name = `${SLOW_STREAMS} slow streams at once`
  return [
    [`${name}: completed, failed`, `${count}, ${errors}`],
    [`${name}: CPU µs per event, Postgres included`, cpuUs.toFixed(0)],
    [`${name}: highest RSS MB, Node`, String(highestMb)],
  ]
}

/** Returns the memory of the Node processes below `root`, without Postgres. */
function rssMb(root: number): string {
  let pages = 0
  for (const pid of treeOf(root)) {
    try {
      const name = readFileSync(`/proc/${pid}/comm`, 'latin1')
      if (name.startsWith('postgres')) continue
      pages += Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1])
    } catch {
      // The process has ended.
    }
  }
  return ((pages * 4_096) / 2 ** 20).toFixed(0)
}
