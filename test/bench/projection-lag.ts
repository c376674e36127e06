import { WebSocket } from 'ws'
import { openLoop } from './apply-load.ts'
import type { BenchSetup } from './bench-setup.ts'

type MeasuredSite = {
  readonly console: BenchSetup['console']
  readonly targets: Pick<BenchSetup['targets'], 'tallygate'>
}

/**
 * Measures the ms from the last byte of a response to the call's row on the live socket. The socket
 * sends committed rows. A row before the last byte counts as 0.
 */
export async function measureLag(
  rig: MeasuredSite,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<{ lagsMs: number[]; missing: number }> {
  const answeredAt = new Map<string, number>()
  const shownAt = new Map<string, number>()
  const socket = await openLive(rig, (requestId) => shownAt.set(requestId, performance.now()))
  await openLoop(rig.targets.tallygate, body(), {
    rate,
    seconds,
    onAnswer: ({ requestId }) => answeredAt.set(requestId, performance.now()),
  })
  const deadline = performance.now() + 5_000
  while (performance.now() < deadline && [...answeredAt.keys()].some((id) => !shownAt.has(id))) {
    await new Promise((resume) => setTimeout(resume, 20))
  }
  socket.close()
  const lagsMs: number[] = []
  for (const [requestId, answered] of answeredAt) {
    const shown = shownAt.get(requestId)
    if (shown !== undefined) lagsMs.push(Math.max(0, shown - answered))
  }
  return { lagsMs, missing: answeredAt.size - lagsMs.length }
}

function openLive(rig: MeasuredSite, onRow: (requestId: string) => void): Promise<WebSocket> {
  const { url, sessionHeaders } = rig.console
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`, {
    headers: { ...sessionHeaders, origin: url },
  })
  return new Promise((done, failed) => {
    socket.on('error', failed)
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', topics: ['logs'] })))
    socket.on('message', (bytes) => {
      const message = JSON.parse(String(bytes)) as {
        type: string
        data?: { request_id?: string }
      }
      if (message.type === 'ready') done(socket)
      if (message.type === 'event' && message.data?.request_id) onRow(message.data.request_id)
    })
  })
}

const body = (): string =>
  JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hi' }] })
