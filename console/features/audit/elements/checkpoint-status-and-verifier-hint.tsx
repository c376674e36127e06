import { useTranslation } from 'react-i18next'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'

/**
 * The degree of confirmation of a checkpoint. `pending` is for an event that no checkpoint includes
 * yet. `siteOnly` means that only the site itself has signed, because the site has no witnesses.
 */
export type CheckpointStatusName = 'pending' | 'signed' | 'final' | 'siteOnly'

/**
 * Returns how far a checkpoint (the signed hash of the whole history) is confirmed. A checkpoint is
 * final when not only the site but also enough witnesses (independent servers) have signed it. A
 * checkpoint of a site without witnesses is `siteOnly`, so that it does not look independently
 * confirmed.
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

/**
 * Explains where to find the offline verifier of receipts and how to run it. With `isWitnessed`,
 * the shown command has a placeholder for the key of a witness, because the verifier checks a
 * signature only if the command contains the key of the signer.
 */
export function VerifierHint({ isWitnessed }: { isWitnessed: boolean }) {
  const { t } = useTranslation()
  return (
    <p className="tg-audit-verifier">
      {t('audit.receipt.checkRun')}{' '}
      <a href="/transparency-log/verify.mjs" download>
        {t('audit.receipt.verifier')}
      </a>
      , <code>node verify.mjs --receipt FILE {keyArguments(isWitnessed)}</code>
    </p>
  )
}

/**
 * Returns arguments for the offline verifier, with a placeholder for the site's key and, with
 * `isWitnessed`, another one for a witness's key.
 */
export const keyArguments = (isWitnessed: boolean): string =>
  isWitnessed ? '--key KEY --witness WITNESS_KEY' : '--key KEY'
