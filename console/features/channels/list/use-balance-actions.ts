import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { useChannelAction } from './use-channel-action.ts'

export function useBalanceActions() {
  const { t } = useTranslation()
  const act = useChannelAction()
  return {
    updateOne: async ({ id, name }: Channel): Promise<void> => {
      const isDone = await act(() =>
        call('GET /api/channel/update_balance/:id/', { params: { id: id } }),
      )
      if (isDone) showSuccess(t('channels.balanceUpdated', { name }))
    },
    updateAll: async (): Promise<void> => {
      await act(async () => {
        const { updated, failed, left } = await call('GET /api/channel/update_balance')
        const tell = failed + left > 0 ? showInfo : showSuccess
        tell(t('channels.balancesUpdated', { updated, failed: failed + left }))
      })
    },
  }
}
