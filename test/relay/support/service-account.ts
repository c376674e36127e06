import { generateKeyPairSync } from 'node:crypto'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

export const SERVICE_ACCOUNT_PUBLIC_KEY = publicKey

/** The key file of a service account, as Google's console writes it. */
export const serviceAccountFile = (fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify(
    {
      type: 'service_account',
      project_id: 'planted-project-4711',
      private_key_id: 'planted-key-id-0123456789abcdef',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'planted-caller@planted-project-4711.iam.gserviceaccount.com',
      client_id: '109876543210987654321',
      auth_uri: 'https://accounts.google.com/o/oauth2/auth',
      token_uri: 'https://oauth2.googleapis.com/token',
      universe_domain: 'googleapis.com',
      ...fields,
    },
    null,
    2,
  )
