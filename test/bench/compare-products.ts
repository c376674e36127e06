import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProductProcess } from '#test/support/product-process.ts'
import { closedLoop, type LoadResult, quantiles, type Target } from './apply-load.ts'
import { startPinned, unpin } from './pinned-processes.ts'

const CONNECTIONS = 64

/** Returns the body of a call with a prompt of 1 KB. */
export function chat(isStream: boolean): string {
  const text = 'Explain in plain words how a gateway accounts for every call that it relays. '
  return JSON.stringify({
    model: 'sim-small',
    messages: [{ role: 'user', content: text.repeat(11) }],
    max_tokens: 20,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
}

export const saturate = (target: Target, isStream: boolean, seconds: number): Promise<LoadResult> =>
  closedLoop(target, chat(isStream), { connections: CONNECTIONS, seconds })

/** Stops the processes, and returns the seconds from their start to the first answered call. */
export async function restartUntilFirstCall({
  processes,
  target,
}: {
  readonly processes: readonly ProductProcess[]
  readonly target: Target
}): Promise<number> {
  await Promise.all(processes.map((one) => one.stop()))
  const begin = performance.now()
  const starting = processes.map((one) => one.start())
  while ((await call(target)) !== 200) await delay(10)
  const seconds = (performance.now() - begin) / 1_000
  await Promise.all(starting)
  return seconds
}

/** Makes a call and returns its status, or 0 if the product can't be reached. */
function call({ url, headers, keys }: Target): Promise<number> {
  const key = keys?.[0]
  return fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      'content-type': 'application/json',
    },
    body: chat(false),
  }).then(
    async (response) => {
      await response.text()
      return response.status
    },
    () => 0,
  )
}

type Program = { readonly url: string; readonly pid: number; readonly close: () => void }

/** Starts a program that prints its address, and lets it use every core. */
export async function startUnpinned(program: string, options: readonly string[]): Promise<Program> {
  const { child, line, pid } = await startPinned(0, program, options)
  unpin(pid)
  const close = () => void child.removeAllListeners('exit').kill('SIGKILL')
  return { url: line.trim(), pid, close }
}

export const median = (values: readonly number[]): number => quantiles([...values]).p50

/** Returns the resident memory of a process in MB. */
export function rssMb(pid: number): string {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1])
  return ((pages * 4_096) / 2 ** 20).toFixed(0)
}
