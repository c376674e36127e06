import { useTranslation } from 'react-i18next'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'

type State = 'pending' | 'signed' | 'final' | 'siteOnly'

/**
 * Whether enough witnesses have signed. Without any witness a checkpoint is as final as it can be,
 * but the site alone vouches for its history, so it must not look like a confirmed one.
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
