import { RedeemPanel } from './redeem-panel.tsx'
import type { WalletPanel } from './wallet-panel.ts'

/** The ways to get quota: one line per panel, in the order of the page. */
export const PANELS: readonly WalletPanel[] = [{ id: 'redeem', Panel: RedeemPanel }]
