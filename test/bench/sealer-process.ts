import { readConfig } from '#infra/config/read-config.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { startCore } from '#infra/start-core.ts'
import { startSealer } from '#infra/transparency-log/sealer.ts'

/**
 * Seals the events of a site from a process that does nothing else, so that the CPU time of sealing
 * can be measured. Seals after the message `seal`, and stops after `rest`; answers each message.
 */
const { core } = await startCore(readConfig(process.env))
// The site must not seal meanwhile, so its lease is taken away, and another one is used here.
const leases = {
  ...core.leases,
  hold: (name: string, work: Parameters<typeof core.leases.hold>[1]) =>
    core.leases.hold(`bench-${name}`, work),
}
let sealer: HeldLease | null = null

process.on('message', async (message: 'seal' | 'rest') => {
  if (message === 'seal') sealer ??= await startSealer({ ...core, leases })
  else await sealer?.stop()
  if (message === 'rest') sealer = null
  process.send?.('done')
})
process.once('disconnect', () => process.exit(0))
process.send?.('ready')
