import { quantiles, type Target } from './apply-load.ts'
import { type BenchSetup, LOAD_CORE } from './bench-setup.ts'
import { TARGET_NAMES } from './measure-load.ts'
import { endPreference, preferOverOthers, startPinned, unpin } from './pinned-processes.ts'
import type { Table } from './results-file.ts'

const STREAMS = 100
/** Streams begin one after another, so that their events are spread over time. */
const APART_MS = 13

/**
 * Measures the time in ms from the moment at which a provider writes an event until the caller
 * reads it, with 100 streams at once. The caller's own time is part of it, as `direct` shows. No
 * process is pinned, because waiting for a core that Postgres or the read models use would be
 * measured instead. For the same reason, the processes that an event passes precede all others.
 */
export async function measureForwarding(rig: BenchSetup, rounds: number): Promise<Table> {
  const provider = await startPinned(LOAD_CORE, 'test/bench/timed-provider.ts', [])
  const bare = await startPinned(LOAD_CORE, 'test/bench/bare-proxy.ts', [provider.line.trim()])
  for (const { pid } of [provider, bare]) unpin(pid)
  const passed = [process.pid, provider.pid, bare.pid, rig.pids.tallygate]
  const priority = preferOverOthers(passed) ? 'real-time priority' : 'normal priority'
  await rig.console.must('POST', '/api/channel/', {
    ...{ name: 'timed', type: 8, key: 'sk-upstream', group: 'default' },
    ...{ base_url: provider.line.trim(), models: 'timed' },
  })
  const targets = {
    direct: { ...rig.targets.direct, url: `${provider.line.trim()}/v1/chat/completions` },
    'bare proxy': { ...rig.targets.direct, url: `${bare.line.trim()}/v1/chat/completions` },
    tallygate: rig.targets.tallygate,
  }
  const delays = { direct: [], 'bare proxy': [], tallygate: [] } as Record<string, number[]>
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const name of TARGET_NAMES) {
        const measured = await streamDelays(targets[name])
        if (round > 0) delays[name]?.push(...measured)
      }
    }
  } finally {
    endPreference(passed)
    for (const { child } of [provider, bare]) {
      child.removeAllListeners('exit')
      child.kill('SIGKILL')
    }
  }
  return {
    title: `From the provider's write of an event to the caller, ${STREAMS} streams, ${priority}`,
    head: ['target', 'p50 ms', 'p99 ms', 'events'],
    rows: TARGET_NAMES.map((name) => {
      const { p50, p99 } = quantiles(delays[name] ?? [])
      return [name, p50.toFixed(2), p99.toFixed(2), String(delays[name]?.length)]
    }),
  }
}

const BODY = JSON.stringify({
  ...{ model: 'timed', stream: true, max_tokens: 100 },
  messages: [{ role: 'user', content: 'Hello' }],
})
const TIME = /<(\d+)>/g

async function streamDelays({ url, headers }: Target): Promise<number[]> {
  const delays: number[] = []
  const one = async (at: number) => {
    await new Promise((resume) => setTimeout(resume, at * APART_MS))
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
    const response = await fetch(url, { ...init, body: BODY })
    for await (const bytes of response.body ?? []) {
      const now = process.hrtime.bigint()
      for (const [, time = '0'] of Buffer.from(bytes).toString('latin1').matchAll(TIME)) {
        delays.push(Number(now - BigInt(time)) / 1e6)
      }
    }
  }
  await Promise.all(Array.from({ length: STREAMS }, (_, at) => one(at)))
  return delays
}
