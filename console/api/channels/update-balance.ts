import type { BalancesRead } from '#read-api/contract/channel-act.ts'
import { request } from '../request.ts'

/** Asks the provider what is left; the channel's row shows it. */
export async function updateBalance(id: number): Promise<void> {
  await request({ path: `/api/channel/update_balance/${id}/` })
}

/** The same of every enabled channel whose provider tells it; answers how many did. */
export async function updateAllBalances(): Promise<BalancesRead> {
  return (await request<BalancesRead>({ path: '/api/channel/update_balance' })).data
}
