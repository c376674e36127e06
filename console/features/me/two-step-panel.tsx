import { call } from '#console/api/client.ts'
import './credentials.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { credentialsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { CredentialsOverview } from '#read-api/contract/credentials.ts'
import type { MePanelProps } from './me-panel-types.ts'
import { PasskeyRows } from './passkey-rows-and-dialog.tsx'
import { type TwoStepDialog, TwoStepDialogs } from './two-step-dialogs.tsx'

export function TwoStepPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const query = useQuery(credentialsQuery)
  const credentials = query.data
  const [dialog, setDialog] = useState<TwoStepDialog | null>(null)
  const isSecured = credentials !== undefined && hasSecondFactor(credentials)
  // A user without a second factor and without a password can't prove their identity. The server
  // then requires a recent login instead.
  const needsProof = isSecured || user?.has_password !== false
  const settle = async (codes: readonly string[]) => {
    setDialog(codes.length > 0 ? { kind: 'codes', codes } : null)
    await client.invalidateQueries({ queryKey: credentialsQuery.queryKey })
  }
  return (
    <Panel
      title={
        <span className="tg-me-device">
          {t('ui.twoStepLogin')}
          {credentials !== undefined && (
            <StatusTag tone={isSecured ? 'good' : 'neutral'}>
              {isSecured ? t('credentials.on') : t('credentials.off')}
            </StatusTag>
          )}
        </span>
      }
      lead={t('credentials.twoStepLead')}
    >
      <QueryView query={query} height={260}>
        {(overview) => (
          <Factors credentials={overview} needsProof={needsProof} onOpen={setDialog} />
        )}
      </QueryView>
      <TwoStepDialogs
        dialog={dialog}
        needsProof={needsProof}
        onOpen={setDialog}
        onClose={() => setDialog(null)}
        onSettled={settle}
      />
    </Panel>
  )
}

function Factors(props: {
  credentials: CredentialsOverview
  needsProof: boolean
  onOpen: (dialog: TwoStepDialog) => void
}) {
  const { credentials, needsProof, onOpen } = props
  const isSecured = hasSecondFactor(credentials)
  const beginning = useSubmit(async () => {
    if (needsProof) onOpen({ kind: 'begin-totp' })
    else
      onOpen({
        kind: 'totp',
        offer: await retryWithIdentityProof(() => call('POST /api/user/totp/begin', { body: {} })),
      })
  })
  return (
    <ul className="tg-me-rows">
      <TotpRow
        isOn={credentials.totp_since !== null}
        isBusy={beginning.isBusy}
        onSetUp={() => void beginning.submit()}
        onTurnOff={() => onOpen({ kind: 'disable-totp' })}
      />
      <PasskeyRows
        passkeys={credentials.passkeys}
        onAdd={() => onOpen({ kind: 'passkey', passkeyToRename: null })}
        onRename={(passkeyToRename) => onOpen({ kind: 'passkey', passkeyToRename })}
        onRemove={(passkey) => onOpen({ kind: 'remove-passkey', passkey })}
      />
      {isSecured && (
        <RecoveryRow
          left={credentials.recovery_codes}
          onReplace={() => onOpen({ kind: 'new-codes' })}
        />
      )}
    </ul>
  )
}

const hasSecondFactor = ({ totp_since, passkeys }: CredentialsOverview): boolean =>
  totp_since !== null || passkeys.length > 0

function TotpRow(props: {
  isOn: boolean
  isBusy: boolean
  onSetUp: () => void
  onTurnOff: () => void
}) {
  const { t } = useTranslation()
  return (
    <li>
      <div>
        <p className="tg-me-row-title">{t('credentials.totp')}</p>
        <p className="tg-hint">
          {props.isOn ? t('credentials.totpOn') : t('credentials.totpLead')}
        </p>
      </div>
      {props.isOn ? (
        <Button size="small" onClick={props.onTurnOff}>
          {t('credentials.turnOff')}
        </Button>
      ) : (
        <Button size="small" isBusy={props.isBusy} onClick={props.onSetUp}>
          {t('credentials.setUp')}
        </Button>
      )}
    </li>
  )
}

function RecoveryRow(props: { left: number; onReplace: () => void }) {
  const { t } = useTranslation()
  return (
    <li>
      <div>
        <p className="tg-me-row-title">{t('credentials.recovery')}</p>
        <p className="tg-hint">{t('credentials.codesLeft', { count: props.left })}</p>
      </div>
      <Button size="small" icon="refresh" onClick={props.onReplace}>
        {t('credentials.newCodes')}
      </Button>
    </li>
  )
}
