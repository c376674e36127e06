import { type Answer, LoadConnection } from './load-connection.ts'

export type Target = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The API keys that the requests use in turn. Without them, `headers` has the only key. */
  readonly keys?: readonly string[]
}

export type LoadResult = {
  readonly count: number
  readonly errors: number
  readonly seconds: number
  readonly firstByteUs: Quantiles
  readonly totalUs: Quantiles
}

export type Quantiles = { readonly p50: number; readonly p99: number }

type Counted = { count: number; errors: number; firstByteUs: number[]; totalUs: number[] }

/** Each connection sends its next request after each response. */
export async function closedLoop(
  target: Target,
  body: string,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<LoadResult> {
  const { open, nextRequest } = prepare(target, body)
  const counted: Counted = { count: 0, errors: 0, firstByteUs: [], totalUs: [] }
  const started = performance.now()
  const end = started + seconds * 1000
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = open()
      while (performance.now() < end) {
        note(counted, await new Promise<Answer>((done) => connection.send(nextRequest(), done)))
      }
      connection.close()
    }),
  )
  return summary(counted, (performance.now() - started) / 1000)
}

/** Sends requests at a fixed rate, even while earlier requests are not answered. */
export async function openLoop(
  target: Target,
  body: string,
  options: {
    readonly rate: number
    readonly seconds: number
    readonly onAnswer?: (answer: Answer) => void
  },
): Promise<LoadResult> {
  const { open, nextRequest } = prepare(target, body)
  const counted: Counted = { count: 0, errors: 0, firstByteUs: [], totalUs: [] }
  const idle: LoadConnection[] = []
  const all: LoadConnection[] = []
  const pending: Promise<void>[] = []
  const started = performance.now()
  const total = Math.round(options.rate * options.seconds)
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, ((performance.now() - started) / 1000) * options.rate)
    for (; sent < due; sent += 1) {
      const connection = idle.pop() ?? remember(all, open())
      pending.push(
        new Promise((done) => {
          connection.send(nextRequest(), (answer) => {
            note(counted, answer)
            options.onAnswer?.(answer)
            idle.push(connection)
            done()
          })
        }),
      )
    }
    await new Promise((resume) => setTimeout(resume, 1))
  }
  await Promise.all(pending)
  for (const connection of all) connection.close()
  return summary(counted, (performance.now() - started) / 1000)
}

function remember(all: LoadConnection[], connection: LoadConnection): LoadConnection {
  all.push(connection)
  return connection
}

function prepare({ url, headers, keys }: Target, body: string) {
  const { hostname, port, host, pathname } = new URL(url)
  const requestWith = (ownHeaders: Target['headers']): Buffer => {
    const lines = Object.entries({
      host,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...ownHeaders,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  }
  const requests = keys?.map((key) => requestWith({ ...headers, authorization: `Bearer ${key}` }))
  const [first, ...others] = requests ?? [requestWith(headers)]
  if (first === undefined) throw new Error('the list of keys is empty')
  let sent = 0
  const nextRequest = (): Buffer => {
    const index = sent % (others.length + 1)
    sent += 1
    return others[index - 1] ?? first
  }
  return { nextRequest, open: () => new LoadConnection(hostname, Number(port)) }
}

function note(counted: Counted, answer: Answer): void {
  if (answer.isGood) counted.count += 1
  else counted.errors += 1
  counted.firstByteUs.push(answer.firstByteUs)
  counted.totalUs.push(answer.totalUs)
}

const summary = (counted: Counted, seconds: number): LoadResult => ({
  count: counted.count,
  errors: counted.errors,
  seconds,
  firstByteUs: quantiles(counted.firstByteUs),
  totalUs: quantiles(counted.totalUs),
})

export function quantiles(values: number[]): Quantiles {
  const sorted = values.sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return { p50: at(0.5) ?? Number.NaN, p99: at(0.99) ?? Number.NaN }
}
