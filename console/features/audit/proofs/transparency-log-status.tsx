import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type {
  LogStatus,
  RefusedCosignature,
  SignedCheckpoint,
} from '#read-api/contract/transparency-log.ts'
import { Hash } from '../elements/amounts-and-hashes.tsx'
import {
  CheckpointStatus,
  checkpointStatusOf,
} from '../elements/checkpoint-status-and-verifier-hint.tsx'
import { ColumnTable, Facts } from '../elements/small-tables.tsx'

const POLL_INTERVAL_MS = 10_000

/**
 * Shows the public facts about the transparency log, which is the Merkle tree of all events. These
 * are its key, its latest checkpoint and its witnesses. Witnesses are independent servers that sign
 * checkpoints. Also warns of witnesses that refuse to sign. With `isEditable`, admins can
 * acknowledge a refusal, except in a scratch copy.
 */
export function LogStatusPanels({ isEditable = false }: { isEditable?: boolean }) {
  const query = useQuery({
    ...apiQuery('GET /api/transparency-log/status'),
    refetchInterval: POLL_INTERVAL_MS,
  })
  const { t } = useTranslation()
  return (
    <Panel title={t('audit.log.latest')} lead={t('audit.log.latestLead')}>
      <QueryView query={query} height={220}>
        {(status) => <Status status={status} isEditable={isEditable} />}
      </QueryView>
    </Panel>
  )
}

function Status({ status, isEditable }: { status: LogStatus; isEditable: boolean }) {
  const { t } = useTranslation()
  const { latest } = status
  return (
    <>
      {/* Refusals of witnesses are shown even if the site has not signed a checkpoint yet. */}
      <RefusalAlerts refusals={status.refusals} isEditable={isEditable} />
      {latest === null ? (
        <p className="tg-muted">{t('audit.log.none')}</p>
      ) : (
        <SealedLog status={status} latest={latest} />
      )}
    </>
  )
}

function SealedLog({ status, latest }: { status: LogStatus; latest: SignedCheckpoint }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { witnesses } = status
  return (
    <>
      <Facts
        facts={[
          [t('audit.log.origin'), status.origin],
          [t('audit.log.size'), number.format(latest.size)],
          [t('audit.log.signed'), <Time key="signed" at={latest.created_at} />],
          [t('audit.verify.root'), <Hash key="root" value={latest.root} />],
          [t('audit.log.key'), status.key && <Key value={status.key} />],
          [t('audit.log.witnessKey'), status.witness_key && <Key value={status.witness_key} />],
          [
            t('audit.log.quorum'),
            witnesses.length > 0 &&
              t('audit.log.quorumText', { count: status.quorum, all: witnesses.length }),
          ],
          [t('shared.status'), <Finality key="final" checkpoint={latest} />],
        ]}
      />
      <figure className="tg-audit-raw">
        <figcaption>
          {t('audit.log.note')} <CopyButton text={latest.note} label={t('ui.copy')} />
        </figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it */}
        <pre tabIndex={0}>{latest.note}</pre>
      </figure>
      <h3 className="tg-proofs-heading">{t('audit.receipt.witnesses')}</h3>
      {witnesses.length === 0 ? (
        <p className="tg-muted">{t('audit.log.noWitnesses')}</p>
      ) : (
        <ColumnTable
          label={t('audit.receipt.witnesses')}
          rows={witnesses}
          rowKey={({ key }) => key}
          columns={[
            [t('shared.name'), ({ name }) => name],
            [t('audit.log.key'), ({ key }) => <Key value={key} />],
            [
              { end: t('audit.log.size') },
              ({ size }) => (size === null ? '–' : number.format(size)),
            ],
            [
              t('audit.log.signed'),
              ({ signed_at: at }) => (at === null ? t('audit.log.notYet') : stamp(at)),
            ],
          ]}
        />
      )}
    </>
  )
}

/**
 * Shows a key without its name prefix, because all keys of a site have the same prefix. The button
 * copies the whole key.
 */
const Key = ({ value }: { value: string }) => (
  <Hash value={value} shown={value.slice(value.indexOf('+') + 1)} />
)

export function Finality({ checkpoint }: { checkpoint: SignedCheckpoint }) {
  return <CheckpointStatus status={checkpointStatusOf(checkpoint)} />
}

/**
 * Warns of witnesses that refuse to sign checkpoints. With `isEditable`, admins can acknowledge a
 * refusal. An acknowledged refusal stays listed, because it still means that two versions of the
 * history exist.
 */
function RefusalAlerts(props: { refusals: readonly RefusedCosignature[]; isEditable: boolean }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const mayAcknowledge = isAdmin(useUser()) && props.isEditable && currentScratchCopy() === null
  const [selected, setSelected] = useState<RefusedCosignature | null>(null)
  return (
    <>
      {props.refusals.map((refusal) => {
        const { id, witness, size, acknowledged_at: at } = refusal
        return (
          <Alert key={id} {...(at === null ? { tone: 'bad' as const } : { role: 'note' as const })}>
            <span>
              {t('audit.log.refused', { name: witness, size: number.format(size) })}{' '}
              {at !== null && t('audit.log.acknowledged', { time: stampText(at) })}
              {refusal.refused_root !== null && (
                <span className="tg-proofs-refused">
                  {t('audit.log.refusedTree', { size: number.format(refusal.refused_size) })}{' '}
                  <Hash value={refusal.refused_root} />
                </span>
              )}
            </span>
            {at === null && mayAcknowledge && (
              <Button onClick={() => setSelected(refusal)}>{t('audit.log.acknowledge')}</Button>
            )}
          </Alert>
        )
      })}
      {selected !== null && (
        <AcknowledgeDialog refusal={selected} onClose={() => setSelected(null)} />
      )}
    </>
  )
}

function AcknowledgeDialog(props: { refusal: RefusedCosignature; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { id, witness } = props.refusal
  const form = useDraftForm({
    initial: () => ({ reason: '' }),
    save: async ({ reason }) => {
      const text = reason.trim()
      if (text === '') throw new FieldError({ reason: t('shared.error.reasonMissing') })
      const request = { params: { id }, body: { reason: text } }
      await call('POST /api/audit/refusals/:id/acknowledge', request)
      showSuccess(t('audit.log.acknowledgeDone'))
      props.onClose()
      await client.invalidateQueries({ queryKey: ['GET /api/transparency-log/status'] })
    },
  })
  return (
    <FormDialog
      isOpen
      role="alertdialog"
      title={t('audit.log.acknowledgeTitle')}
      lead={t('audit.log.acknowledgeLead', { name: witness })}
      submitText={t('audit.log.acknowledge')}
      tone="danger"
      form={form}
      onClose={props.onClose}
    >
      <TextField
        label={t('audit.acts.reason')}
        hint={t('audit.log.acknowledgeHint')}
        isRequired
        maxLength={1_000}
        {...form.field('reason')}
      />
    </FormDialog>
  )
}
