import { useTranslation } from 'react-i18next'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'

type State = 'pending' | 'signed' | 'final' | 'siteOnly'

/**
 * Returns how far a signed checkpoint (the signed hash of the whole history) is confirmed. A
 * checkpoint is final if enough witnesses, which are independent servers, have signed it. A site
 * without witnesses signs alone, so its checkpoints must not look confirmed.
 */
export function sealStateOf(sealed: {
  readonly is_final: boolean
  readonly cosignatures: readonly unknown[]
}): State {
  if (!sealed.is_final) return 'signed'
  return sealed.cosignatures.length === 0 ? 'siteOnly' : 'final'
}

const TONES = { pending: 'info', signed: 'info', final: 'good', siteOnly: 'neutral' } as const

export function SealState({ state }: { state: State }) {
  const { t } = useTranslation()
  return <StatusTag tone={TONES[state]}>{t(`audit.receipt.state.${state}`)}</StatusTag>
}
