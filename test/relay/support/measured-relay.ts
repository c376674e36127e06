import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '#test/support/start-http-server.ts'

type CallEnd = { readonly type: string; readonly data: object }

/** A relay in a separate process, whose memory can be measured. */
export type MeasuredRelay = {
  readonly url: string
  /** Returns the names of the files of uploads that the relay has on disk. */
  readonly uploadedFiles: () => string[]
  /**
   * Runs `work` as often as `times` says, and returns the most memory that the relay uses
   * meanwhile, in MiB. It includes buffers that are not yet collected, so it is only compared with
   * the memory for shorter content.
   */
  readonly peakDuring: (work: () => Promise<void>, times?: number) => Promise<number>
  /**
   * Runs `work` up to three times, until its peak is below `limitMb`, and returns the lowest peak.
   * A busy machine delays the collection of buffers, which only adds memory.
   */
  readonly lowestPeakDuring: (work: () => Promise<void>, limitMb: number) => Promise<number>
  /** Returns the events that ended calls. */
  readonly ends: () => Promise<CallEnd[]>
  readonly close: () => Promise<void>
}

/**
 * Starts the relay of a program in this folder, and a provider that answers with `answer`. The
 * program gets the address of the provider and a folder for uploads, and sends its URL.
 */
export async function startMeasuredRelay(
  program: string,
  answer: RequestListener,
): Promise<MeasuredRelay> {
  const folder = mkdtempSync(join(tmpdir(), 'measured-relay-'))
  const provider = await serve((request, response) => {
    request.on('error', () => {})
    response.on('error', () => {})
    answer(request, response)
  })
  const relay = fork(join(import.meta.dirname, program), [provider.url, folder], { execArgv: [] })
  const [url] = (await once(relay, 'message')) as [string]
  const rssMb = (): number => {
    const status = readFileSync(`/proc/${relay.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }
  const peakDuring: MeasuredRelay['peakDuring'] = async (work, times = 1) => {
    let most = rssMb()
    const timer = setInterval(() => {
      most = Math.max(most, rssMb())
    }, 5)
    try {
      for (let time = 0; time < times; time += 1) await work()
    } finally {
      clearInterval(timer)
    }
    return most
  }
  return {
    url,
    uploadedFiles: () => readdirSync(join(folder, 'uploads')),
    peakDuring,
    lowestPeakDuring: async (work, limitMb) => {
      let lowest = await peakDuring(work)
      for (let time = 1; time < 3 && lowest >= limitMb; time += 1) {
        lowest = Math.min(lowest, await peakDuring(work))
      }
      return lowest
    },
    ends: async () => {
      relay.send('ends')
      const [events] = (await once(relay, 'message')) as [CallEnd[]]
      return events
    },
    close: async () => {
      relay.kill('SIGKILL')
      await provider.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export const BOUNDARY = 'a-boundary-of-the-test'

/** Returns the head of one part of a form, whose content follows. */
export const formPart = (name: string, more = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`

/** Yields `length` bytes in chunks of 64 KiB. */
export function* bytesOfLength(length: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, 7)
  for (let sent = 0; sent < length; sent += chunk.length) {
    yield chunk.subarray(0, Math.min(chunk.length, length - sent))
  }
}
