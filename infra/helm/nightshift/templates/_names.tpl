{{- define "nightshift.labels" -}}
app.kubernetes.io/name: nightshift
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
