import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { BalanceCard } from './balance-card.tsx'
import { GainsPanel } from './gains-panel.tsx'
import { OrdersPanel } from './orders-panel.tsx'
import { PaymentNote } from './payment-note.tsx'
import { RedeemPanel } from './redeem-panel.tsx'
import { TopUpPanel } from './top-up-panel.tsx'
import { useWallet } from './use-wallet.ts'
import type { WalletPanel } from './wallet-panel.ts'
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

/** The ways to get quota: one line per panel, in the order of the page. */
const PANELS: readonly WalletPanel[] = [
  { id: 'redeem', Panel: RedeemPanel },
  { id: 'top-up', Panel: TopUpPanel },
  { id: 'orders', Panel: OrdersPanel },
]
