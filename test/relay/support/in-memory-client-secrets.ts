import {
  type ClientSecret,
  type ClientSecrets,
  SECRETS_MAX,
} from '#relay/realtime/client-secret-store.ts'

export function clientSecretsInMemory(): ClientSecrets {
  const secrets = new Map<string, ClientSecret>()
  return {
    add: async (secret, now) => {
      const ofToken = [...secrets.values()].filter(
        ({ keyLookup, expiresAt }) => keyLookup === secret.keyLookup && expiresAt > now,
      )
      if (ofToken.length >= SECRETS_MAX) return false
      secrets.set(secret.secretHash, secret)
      return true
    },
    find: async (secretHash, now) => {
      const secret = secrets.get(secretHash)
      return secret === undefined || secret.expiresAt <= now ? null : secret
    },
    sweep: async (now) => {
      for (const [hash, { expiresAt }] of secrets) if (expiresAt <= now) secrets.delete(hash)
    },
  }
}
