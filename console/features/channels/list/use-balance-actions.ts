import { useTranslation } from 'react-i18next'
import { fetchData, request } from '#console/api/request.ts'
import { showInfo, showSuccess } from '#console/ui/toast.ts'
import type { BalanceUpdate } from '#read-api/contract/channel-actions.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { useChannelAction } from './use-channel-action.ts'

/** Asks providers what is left of the money there. */
export function useBalanceActions() {
  const { t } = useTranslation()
  const act = useChannelAction()
  return {
    updateOne: async ({ id, name }: Channel): Promise<void> => {
      const isDone = await act(() => updateBalance(id))
      if (isDone) showSuccess(t('channels.balanceUpdated', { name }))
    },
    updateAll: async (): Promise<void> => {
      await act(async () => {
        const { updated, failed, left } = await updateAllBalances()
        const tell = failed + left > 0 ? showInfo : showSuccess
        tell(t('channels.balancesUpdated', { updated, failed: failed + left }))
      })
    },
  }
}

/** Asks the provider what is left; the channel's row shows it. */
async function updateBalance(id: number): Promise<void> {
  await request({ path: `/api/channel/update_balance/${id}/` })
}

/** The same of every enabled channel whose provider tells it; answers how many did. */
const updateAllBalances = (): Promise<BalanceUpdate> =>
  fetchData({ path: '/api/channel/update_balance' })
