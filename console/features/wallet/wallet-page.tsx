import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { BalanceCard } from './balance-card.tsx'
import { GainsPanel } from './gains-panel.tsx'
import { PANELS } from './panels.ts'
import { PaymentNote } from './payment-note.tsx'
import { useWallet } from './use-wallet.ts'
import '#console/ui/forms.css'
import './wallet.css'

/** What one has, the ways to get more, and what came lately. */
export function WalletPage(): ReactElement {
  const { t } = useTranslation()
  const { self, gains } = useWallet()
  return (
    <Page title={t('wallet.title')} lead={t('wallet.lead')}>
      <PaymentNote />
      {self.error !== null && self.data === undefined ? (
        <ErrorState error={self.error} onRetry={() => void self.refetch()} />
      ) : (
        <BalanceCard user={self.data} />
      )}
      <div className="tg-wallet-columns">
        <div className="tg-wallet-ways">
          {PANELS.map(({ id, Panel }) => (
            <Panel key={id} />
          ))}
        </div>
        <GainsPanel query={gains} />
      </div>
    </Page>
  )
}
