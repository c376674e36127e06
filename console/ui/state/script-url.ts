type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

/** The policy `policyName` allows only the URL of this script. */
export function createScriptUrl(policyName: string, url: string): () => string {
  let policy: ScriptPolicy | undefined
  return () => {
    const { trustedTypes } = globalThis as Globals
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: () => url })
    return policy?.createScriptURL(url) ?? url
  }
}
