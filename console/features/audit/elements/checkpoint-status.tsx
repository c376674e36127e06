import { useTranslation } from 'react-i18next'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'

/**
 * How far a checkpoint is confirmed. `pending` is for an event that no checkpoint includes yet.
 * `siteOnly` means that the site has no witnesses, so only the site itself has signed.
 */
export type CheckpointStatusName = 'pending' | 'signed' | 'final' | 'siteOnly'

/**
 * Returns how far a checkpoint is confirmed. A checkpoint is the signed hash of the whole history.
 * It is final when enough witnesses (independent servers) have also signed it. A checkpoint of a
 * site without witnesses is `siteOnly`, because it must not look confirmed.
 */
export function checkpointStatusOf(checkpoint: {
  readonly is_final: boolean
  readonly cosignatures: readonly unknown[]
}): CheckpointStatusName {
  if (!checkpoint.is_final) return 'signed'
  return checkpoint.cosignatures.length === 0 ? 'siteOnly' : 'final'
}

const TONES = { pending: 'info', signed: 'info', final: 'good', siteOnly: 'neutral' } as const

export function CheckpointStatus({ status }: { status: CheckpointStatusName }) {
  const { t } = useTranslation()
  return <StatusTag tone={TONES[status]}>{t(`audit.receipt.state.${status}`)}</StatusTag>
}
