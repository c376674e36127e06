import { useTranslation } from 'react-i18next'
import { request } from '#console/api/request.ts'
import type { MenuEntry } from '#console/ui/menu.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useTestAll } from '../testing/use-test-all.ts'
import { useBalanceActions } from './use-balance-actions.ts'
import { useChannelAction } from './use-channel-action.ts'

/** What is done to all channels at once, as entries of a menu. */
export function useListActions(given: {
  removeDisabled: () => Promise<void>
  onResults: () => void
}): MenuEntry[] {
  const { t } = useTranslation()
  const act = useChannelAction()
  const { updateAll } = useBalanceActions()
  const testAll = useTestAll()
  const fix = async () => {
    if (await act(fixAbilities)) showSuccess(t('channels.fixed'))
  }
  return [
    { id: 'test', text: t('channels.testAll'), icon: 'zap', onChoose: () => void testAll() },
    { id: 'results', text: t('channels.lastResults'), icon: 'list', onChoose: given.onResults },
    {
      id: 'balances',
      text: t('channels.updateBalances'),
      icon: 'refresh',
      onChoose: () => void updateAll(),
    },
    { id: 'fix', text: t('channels.fix'), icon: 'settings', onChoose: () => void fix() },
    'divider',
    {
      id: 'disabled',
      text: t('channels.deleteDisabled'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => void given.removeDisabled(),
    },
  ]
}

/** Makes the list of who serves what anew, from the channels as they are. */
async function fixAbilities(): Promise<void> {
  await request({ method: 'POST', path: '/api/channel/fix' })
}
