/** Version of the HTTP API's description; the paths carry the major one. */
export const version = '1.0.0';
