import { OrdersPanel } from './orders-panel.tsx'
import { RedeemPanel } from './redeem-panel.tsx'
import { TopUpPanel } from './top-up-panel.tsx'
import type { WalletPanel } from './wallet-panel.ts'

/** The ways to get quota: one line per panel, in the order of the page. */
export const PANELS: readonly WalletPanel[] = [
  { id: 'redeem', Panel: RedeemPanel },
  { id: 'top-up', Panel: TopUpPanel },
  { id: 'orders', Panel: OrdersPanel },
]
