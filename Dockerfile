FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501

WORKDIR /app

COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt

COPY . ./
# Under a read-only root nothing could be compiled later.
RUN python -m compileall -q app.py pages posenc

# A number, because runAsNonRoot checks numbers only.
USER 10001:10001
EXPOSE 8501
STOPSIGNAL SIGTERM

# A slim image has no curl. /healthz would answer 200 for anything.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; e = os.environ; b = e.get('STREAMLIT_SERVER_BASE_URL_PATH', '').strip('/'); u.urlopen('http://127.0.0.1:' + e['STREAMLIT_SERVER_PORT'] + (b and '/' + b) + '/_stcore/health', timeout=2)"]

ENTRYPOINT ["streamlit", "run", "app.py"]
