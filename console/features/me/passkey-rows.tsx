import { useTranslation } from 'react-i18next'
import { arePasskeysSupported } from '#console/api/auth/browser-passkeys.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { deleteAction, editAction } from '#console/ui/lists/list-actions.ts'
import { RowActions } from '#console/ui/lists/row-actions.tsx'
import type { OwnPasskey } from '#read-api/contract/credentials.ts'

export function PasskeyRows(props: {
  passkeys: readonly OwnPasskey[]
  onAdd: () => void
  onRename: (passkey: OwnPasskey) => void
  onRemove: (passkey: OwnPasskey) => void
}) {
  const { t } = useTranslation()
  const arePasskeysUsable = arePasskeysSupported()
  return (
    <>
      <li>
        <div>
          <p className="tg-me-row-title">{t('credentials.passkeys')}</p>
          <p className="tg-hint">
            {arePasskeysUsable
              ? t('credentials.passkeysLead')
              : t('credentials.passkeysUnsupported')}
          </p>
        </div>
        <Button size="small" icon="add" isDisabled={!arePasskeysUsable} onClick={props.onAdd}>
          {t('credentials.addPasskey')}
        </Button>
      </li>
      {props.passkeys.map((passkey) => (
        <li key={passkey.id} className="tg-me-sub">
          <div>
            <p className="tg-me-row-title">{passkey.name}</p>
            <p className="tg-hint tg-me-facts">
              <span>
                {t('credentials.addedAt')} <Time at={passkey.created_at} />
              </span>
              <span>
                {passkey.used_at === null ? (
                  t('credentials.neverUsed')
                ) : (
                  <>
                    {t('shared.lastUsed')} <Time at={passkey.used_at} />
                  </>
                )}
              </span>
            </p>
          </div>
          <RowActions
            actions={[
              editAction(
                () => props.onRename(passkey),
                t('credentials.renameOf', { name: passkey.name }),
              ),
              deleteAction(
                () => props.onRemove(passkey),
                t('credentials.removeOf', { name: passkey.name }),
              ),
            ]}
          />
        </li>
      ))}
    </>
  )
}
